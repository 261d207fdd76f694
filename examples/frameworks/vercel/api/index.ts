import { api } from '../lib/api.ts'

export default { fetch: (request: Request) => api.handle(request) }
