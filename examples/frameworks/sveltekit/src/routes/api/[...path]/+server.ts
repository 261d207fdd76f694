import type { RequestHandler } from '@sveltejs/kit'
import { api } from '#lib/server/api.ts'

/** Every method, QUERY among them. */
export const fallback: RequestHandler = ({ request, getClientAddress }) =>
  api.handle(request, undefined, { clientAddress: getClientAddress() })
