import { api } from '#lib/server/api.ts'

/** Every method, QUERY among them. */
export const fallback = ({ request }: { request: Request }) => api.handle(request)
