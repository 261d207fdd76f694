/**
 * The page of the playground: the module of an app that runs here, and requests to it.
 *
 * @module
 */

/** What the app is asked: to start, or a request. */
export type Asked =
  | { readonly code: string }
  | {
      readonly method: string
      readonly url: string
      readonly headers: [string, string][]
      readonly body: ArrayBuffer | null
    }

/** A response, or what went wrong. */
export interface Answer {
  readonly error?: string
  readonly status?: number
  readonly headers?: [string, string][]
  readonly body?: ArrayBuffer
}

const part = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const code = part<HTMLTextAreaElement>('code')
const state = part('state')
const form = part<HTMLFormElement>('request')
const shown = part('response')
const { serviceWorker } = navigator

let thread: Worker | undefined

function ask(asked: Asked): Promise<Answer> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data }) => resolve(data as Answer)
    thread?.addEventListener('error', ({ message }) => resolve({ error: message }))
    thread?.postMessage(asked, [port2])
  })
}

/** Starts the app anew: its records are those that its module inserts. */
async function start(): Promise<void> {
  thread?.terminate()
  thread = new Worker('./worker.js', { type: 'module' })
  state.textContent = 'Starting …'
  const { error } = await ask({ code: code.value })
  state.textContent = error ?? 'The app runs in this page.'
  state.className = error ? 'error' : ''
}

async function send(): Promise<void> {
  const { method, path, body } = Object.fromEntries(new FormData(form)) as Record<string, string>
  const takesBody = !['GET', 'DELETE'].includes(method ?? '')
  const response = await fetch(`./api${path}`, {
    method: method ?? 'GET',
    ...(takesBody && { body: body ?? '', headers: { 'Content-Type': 'application/json' } }),
  })
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\n`)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  const content = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text
  shown.textContent = `${response.status}\n${headers.join('')}\n${content}`
}

/** Fills the form in with one of the requests that the page suggests. */
function suggest({ target }: Event): void {
  const { method, path, body = '' } = (target as HTMLElement).dataset
  if (!method) return
  for (const [name, value] of Object.entries({ method, path, body })) {
    ;(form.elements.namedItem(name) as HTMLInputElement).value = value ?? ''
  }
  void send()
}

serviceWorker?.addEventListener('message', async ({ data, ports: [port] }) =>
  port?.postMessage(await ask(data as Asked)),
)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void send()
})
part('run').addEventListener('click', () => void start())
part('suggested').addEventListener('click', suggest)

if (serviceWorker) {
  serviceWorker.startMessages()
  await serviceWorker.register('./service-worker.js')
  if (!serviceWorker.controller) {
    await new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve))
  }
  await start()
} else {
  state.textContent = 'This browser has no service workers here: open the page by https.'
}
