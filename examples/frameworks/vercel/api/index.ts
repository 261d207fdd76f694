import { ipAddress, waitUntil } from '@vercel/functions'
import { api } from '../lib/api.ts'

export default {
  fetch: (request: Request) =>
    api.handle(request, undefined, { clientAddress: ipAddress(request), waitUntil }),
}
