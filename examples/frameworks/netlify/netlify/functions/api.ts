import { api } from '../../lib/api.ts'

/** What Netlify says of a request. */
interface Context {
  readonly ip: string
  waitUntil(work: Promise<unknown>): void
}

export default (request: Request, context: Context) =>
  api.handle(request, undefined, {
    clientAddress: context.ip,
    waitUntil: (work) => context.waitUntil(work),
  })

export const config = { path: '/api/*' }
