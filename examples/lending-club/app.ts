import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { diskFiles } from 'fieldgate/disk'
import { sqliteStore } from 'fieldgate/sqlite'
import { club } from './club.ts'

// Without SECRET, everyone is signed out when the server starts again. Without SMTP_URL, mails are printed.
const {
  DATA = '.',
  SECRET = randomBytes(32).toString('base64url'),
  SMTP_URL,
  MAIL_FROM = '',
} = process.env

export const app = club({
  store: sqliteStore({ path: `${DATA}/club.db` }),
  files: diskFiles({ root: `${DATA}/photos`, secret: SECRET }),
  secret: SECRET,
  mail: SMTP_URL
    ? { transport: SMTP_URL, from: MAIL_FROM }
    : { sender: ({ to, subject, text }) => console.log(`To ${to}: ${subject}\n${text}`) },
})
