import type { APIRoute } from 'astro'
import { api } from '../../api'

export const prerender = false

/** Every method, QUERY among them. */
export const ALL: APIRoute = ({ request, clientAddress }) =>
  api.handle(request, undefined, { clientAddress })
