import { createFileRoute } from '@tanstack/react-router'
import { api } from '../../api'

export const Route = createFileRoute('/api/$')({
  server: { handlers: { ANY: ({ request }) => api.handle(request) } },
})
