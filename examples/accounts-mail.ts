/**
 * Accounts with confirmed email addresses, and notes that only their owner sees. SQLite keeps them, SMTP sends the codes.
 *
 * In this repository `npm run example examples/accounts-mail.ts`. In your own project
 * `npm install fieldgate zod nodemailer`, copy this file, and run `node accounts-mail.ts`. SMTP_URL names your mail server,
 * by default one for development on port 1025 (Mailpit, for example), and SECRET signs tokens.
 *
 *     curl localhost:3000/auth/register -H 'Content-Type: application/json' \
 *          -d '{"email":"ann@example.com","password":"correct horse battery"}'
 *     curl localhost:3000/auth/email/verify -H 'Content-Type: application/json' \
 *          -d '{"identifier":"ann@example.com","otp":"<from the mail>","password":"correct horse battery"}'
 *
 * Then sign in with POST /auth/login, and send the token: `-H 'Authorization: Bearer <token>'`.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { createApp, createAuthRouter, createRouter, defineModel, ref, userFields } from 'fieldgate'
import { serve } from 'fieldgate/node'
import { sqliteStore } from 'fieldgate/sqlite'
import * as z from 'zod'

// Nobody signs in before they have entered the code from the mail.
const emailVerification = { enabled: true, required: true }

const User = defineModel('User', {
  fields: { name: z.string().max(100).optional(), ...userFields({ emailVerification }) },
  unique: ['email'],
})

const Note = defineModel('Note', {
  fields: { text: z.string().min(1).max(10_000), owner: ref('User') },
  timestamps: true,
  indexes: [['owner', '-createdAt']],
})

// Without SECRET, everyone is signed out when the server starts again.
const secret = process.env.SECRET ?? randomBytes(32).toString('base64url')
const app = createApp({ store: sqliteStore({ path: process.env.DATABASE ?? 'notes.db' }), secret })

const auth = createAuthRouter({
  model: User,
  token: { secret },
  registerFields: ['name'],
  updateFields: ['name'],
  emailVerification,
  mail: {
    transport: process.env.SMTP_URL ?? 'smtp://127.0.0.1:1025',
    from: 'Notes <notes@example.com>',
    templates: {
      emailVerification: {
        subject: 'Your code for Notes',
        text: 'Enter {{code}} to confirm your address. It works for {{minutes}} minutes.',
      },
    },
  },
})
app.mount('/auth', auth.router)

app.mount(
  '/notes',
  createRouter({
    model: Note,
    middlewares: [auth.requireAuth],
    scope: (request) => ({ owner: request.auth?.userId }),
    orderBy: '-createdAt',
    search: ['text'],
    allowedFields: ['text'],
  }),
)

const { url } = await serve(app, { port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' })
console.log(`Notes on ${url}/notes`)
