import { createFileRoute } from '@tanstack/react-router'
import { getRequestIP } from '@tanstack/react-start/server'
import { api } from '../../api'

export const Route = createFileRoute('/api/$')({
  server: {
    handlers: {
      ANY: ({ request }) => api.handle(request, undefined, { clientAddress: getRequestIP() }),
    },
  },
})
