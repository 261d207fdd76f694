/**
 * The thread in which the app of the playground runs: it takes the text of a module, and then requests.
 *
 * @module
 */

import type { App } from 'fieldgate'
import type { Answer, Asked } from './page.ts'

/** What the module may import, and the file that has it. */
const MODULES: Readonly<Record<string, string>> = {
  fieldgate: 'fieldgate.js',
  'fieldgate/guards': 'guards.js',
  'fieldgate/openapi': 'openapi.js',
  zod: 'zod.js',
  './memory-store.ts': 'memory-store.js',
}
/** The end of an import: `} from 'zod'`. */
const FROM = /(\bfrom |^import )'([^'\n]+)'$/gm

// Firefox has no `body` of requests, up to 153 at least: an app would take each of them for one without a body.
if (!('body' in Request.prototype)) {
  Object.defineProperty(Request.prototype, 'body', {
    get(this: Request) {
      const { readable, writable } = new TransformStream()
      // The request's own methods would read it by this stream.
      const copy = Request.prototype.clone.call(this)
      void copy.blob().then((whole) => whole.stream().pipeTo(writable))
      return readable
    },
  })
}

let app: App | undefined

self.addEventListener('message', async ({ data, ports: [port] }: MessageEvent<Asked>) => {
  const answer = await answerTo(data).catch((error: unknown) => {
    const { fields } = Object(error)
    return { error: fields ? `${error} ${JSON.stringify(fields)}` : String(error) }
  })
  port?.postMessage(answer)
})

async function answerTo(asked: Asked): Promise<Answer> {
  if ('code' in asked) {
    app = await started(asked.code)
    return {}
  }
  if (!app) return { error: 'The app has not started.' }
  const { url, body, ...init } = asked
  const request = new Request(url, { ...init, headers: [...init.headers], body })
  const response = await app.handle(request)
  const { status, headers } = response
  return { status, headers: [...headers], body: await response.arrayBuffer() }
}

/** The app that the module exports. It is run as it is, so it has no types. */
async function started(code: string): Promise<App> {
  const linked = code.replace(FROM, (_, before: string, name: string) => {
    const file = MODULES[name]
    if (file) return `${before}'${new URL(file, location.href)}'`
    throw new Error(`'${name}' is not here. There are: ${Object.keys(MODULES).join(', ')}.`)
  })
  const url = URL.createObjectURL(new Blob([linked], { type: 'text/javascript' }))
  const { app: exported } = await import(url)
  if (exported?.handle) return exported
  throw new Error('No app is exported. Write: export const app = createApp({ … })')
}
