import { type D1Binding, d1Store } from 'fieldgate/d1'
import { type R2Binding, r2Files } from 'fieldgate/r2'
import { worker } from 'fieldgate/workers'
import { club } from './club.ts'

interface Env {
  readonly DB: D1Binding
  readonly PHOTOS: R2Binding
  readonly SECRET: string
  readonly MAIL_API?: string
}

export default worker<Env>(({ DB, PHOTOS, SECRET, MAIL_API }) =>
  club({
    store: d1Store(DB),
    files: r2Files(PHOTOS, { secret: SECRET }),
    secret: SECRET,
    mail: {
      async sender({ to, subject, text }) {
        if (!MAIL_API) return console.log(`To ${to}: ${subject}\n${text}`)
        const body = JSON.stringify({ to, subject, text })
        const { ok } = await fetch(MAIL_API, { method: 'POST', body })
        if (!ok) throw new Error('The mail was not taken.')
      },
    },
  }),
)
