import { api } from '../../api'

export default defineEventHandler((event) => {
  // Nitro's requests don't say that the client has gone away.
  const gone = new AbortController()
  event.node.res.once('close', () => gone.abort())
  const request = new Request(toWebRequest(event), { signal: gone.signal })
  return api.handle(request, undefined, { clientAddress: getRequestIP(event) })
})
