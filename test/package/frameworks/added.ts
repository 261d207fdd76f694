/**
 * Routes that only the tests ask: they stream, set cookies and say who listens. `run.ts` puts them after the app of
 * examples/frameworks.
 *
 * @module
 */

export const added = `
import { HttpError } from 'fieldgate'
import { compress } from 'fieldgate/guards'

let listeners = 0

const checks = createRouter({ model: City, middlewares: [], access: {} })
  .get('/clock', ({ signal }) => {
    const encoder = new TextEncoder()
    let timer: ReturnType<typeof setInterval> | undefined
    const stop = () => {
      if (timer !== undefined) listeners -= 1
      clearInterval(timer)
      timer = undefined
    }
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        listeners += 1
        const tick = () => controller.enqueue(encoder.encode(\`data: \${Date.now()}\\n\\n\`))
        timer = setInterval(tick, 250)
        signal.addEventListener('abort', stop, { once: true })
        tick()
      },
      cancel: stop,
    })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  })
  .get('/listeners', () => ({ listeners }))
  .get('/theme', (request) => {
    const headers = new Headers()
    headers.append('Set-Cookie', 'theme=dark; Path=/; Expires=Thu, 31 Dec 2037 23:55:55 GMT')
    headers.append('Set-Cookie', 'seen=1; Path=/; HttpOnly')
    return Response.json({ cookie: request.headers.get('Cookie') }, { headers })
  })
  .get('/long', () => ({ text: 'word '.repeat(1000) }))
  .get('/near/:name/by/:how/within/:distance', ({ params }) => ({ ...params }))
  .post('/broken', () => {
    throw new HttpError(418, 'This route never works.')
  })

api.use(compress()).mount('/checks', checks)
`
