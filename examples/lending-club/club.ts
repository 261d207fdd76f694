import {
  createApp,
  createAuthRouter,
  createRouter,
  defineModel,
  type FileStore,
  HttpError,
  type MailOptions,
  ref,
  type Store,
} from 'fieldgate'
import { emailCode } from 'fieldgate/email-code'
import { rateLimit } from 'fieldgate/guards'
import * as z from 'zod'

export const Tool = defineModel('Tool', {
  fields: {
    name: z.string().min(1).max(80),
    kind: z.enum(['saw', 'drill', 'ladder', 'other']),
    about: z.string().max(500).optional(),
    photo: z.string().optional(),
  },
  indexes: ['name', ['kind', 'name']],
})

export const Loan = defineModel('Loan', {
  fields: {
    tool: ref('Tool', { onDelete: 'restrict' }),
    member: ref('User'),
    from: z.date(),
    to: z.date(),
    status: z.enum(['booked', 'lent', 'returned', 'cancelled']).default('booked'),
  },
  initial: { status: ['booked'] },
  transitions: { status: { booked: ['lent', 'cancelled'], lent: ['returned'] } },
  exclude: [{ equal: ['tool'], range: ['from', 'to'], where: { status: ['booked', 'lent'] } }],
  indexes: ['-from', ['member', '-from'], ['tool', '-from']],
})

const accounts = (secret: string, mail: MailOptions) =>
  createAuthRouter({
    fields: { name: z.string().max(80).optional(), tickets: z.int().min(0).default(3) },
    roles: { list: ['member', 'librarian'], default: 'member', admin: 'librarian' },
    methods: [emailCode({ signUp: true })],
    token: { secret },
    refresh: { enabled: true },
    visibleFields: ['name'],
    appName: 'Lending club',
    mail,
  })
type Accounts = ReturnType<typeof accounts>

function tools({ requireAuth, requireRole }: Accounts) {
  const librarians = [requireAuth, requireRole('librarian')]
  return createRouter({
    model: Tool,
    access: { create: librarians, update: librarians, remove: librarians },
    orderBy: 'name',
    query: ['kind'],
    search: ['name', 'about'],
    allowedFields: ['name', 'kind', 'about', 'photo'],
    upload: { path: 'tools/', fields: [{ name: 'photo' }], acl: 'public-read' },
  })
}

function loans({ model: User, requireAuth, mail }: Accounts) {
  return createRouter({
    model: Loan,
    middlewares: [requireAuth],
    scope: ({ auth }) => (auth?.role === 'librarian' ? undefined : { member: auth?.userId }),
    access: { create: false, update: false, remove: false },
    orderBy: '-from',
    query: ['status'],
    expandable: ['tool', 'member'],
    exportLimit: 100_000,
    aggregates: { by: ['tool', 'from:month'] },
  })
    .post(
      '/book',
      async ({ auth, body }, { store, waitUntil }) => {
        const booked = await store.atomic(async (tx) => {
          const tool = await tx.collection(Tool).findById(body.tool)
          const member = await tx.collection(User).findById(auth?.userId ?? '')
          if (!tool || !member) throw new HttpError(404, 'There is no such tool.')
          if (member.tickets === 0) throw new HttpError(409, 'You have no ticket left.')
          await tx.collection(User).update(member._id, { tickets: member.tickets - 1 })
          const loan = await tx.collection(Loan).insert({ ...body, member: member._id })
          return { tool, member, loan }
        })
        const { tool, member, loan } = booked
        const text = `You can fetch it on ${loan.from.toDateString()}.`
        waitUntil(mail.send({ to: String(member.email), subject: `Booked: ${tool.name}`, text }))
        return loan
      },
      {
        summary: 'Book a tool, for one ticket',
        body: z.object({ tool: z.string(), from: z.date(), to: z.date() }),
        response: z.object({ _id: z.string(), from: z.date(), to: z.date(), status: z.string() }),
      },
    )
    .post(
      '/:id/status',
      async ({ auth, params, body: { status } }, { store }) =>
        store.atomic(async (tx) => {
          const loan = await tx.collection(Loan).findById(params.id)
          const mayCancel = loan?.member === auth?.userId && status === 'cancelled'
          if (!loan || !(mayCancel || auth?.role === 'librarian'))
            throw new HttpError(404, 'There is no such loan.')
          const member = await tx.collection(User).findById(loan.member)
          if (member && status !== 'lent')
            await tx.collection(User).update(member._id, { tickets: member.tickets + 1 })
          await tx.collection(Loan).update(loan._id, { status })
          return { status }
        }),
      {
        summary: 'Cancel a loan. Librarians lend tools out and take them back',
        params: z.object({ id: z.string() }),
        body: z.object({ status: z.enum(['lent', 'returned', 'cancelled']) }),
        response: z.object({ status: z.string() }),
      },
    )
}

/** What differs from place to place. */
export interface Place {
  readonly store: Store
  readonly files: FileStore
  readonly mail: MailOptions
  readonly secret: string
}

export function club({ store, files, mail, secret }: Place) {
  const auth = accounts(secret, mail)
  return createApp({ store, files, secret })
    .use(rateLimit({ limit: 300, windowSeconds: 60 }))
    .mount('/auth', auth.router)
    .mount('/tools', tools(auth))
    .mount('/loans', loans(auth))
}
