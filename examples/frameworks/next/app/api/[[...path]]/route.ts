import { api } from '@/lib/api'

const handle = (request: Request) => api.handle(request)

export {
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as DELETE,
  handle as PATCH,
  handle as POST,
  handle as PUT,
}
