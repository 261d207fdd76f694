import { api } from '../../lib/api.ts'

export default (request: Request) => api.handle(request)

export const config = { path: '/api/*' }
