import { startWorker } from '../workers.ts'
import { gate } from './gate.ts'

gate('D1', async () => {
  const workerd = await startWorker(new URL('worker.ts', import.meta.url))
  const ask = async (path: string) => {
    const { ok } = await workerd.dispatchFetch(`http://localhost${path}`)
    if (!ok) throw new Error(`the worker could not ${path}`)
  }
  return {
    prepare: () => ask('/prepare'),
    restore: () => ask('/restore'),
    async send(path, body, client) {
      const headers = { 'content-type': 'application/json', 'x-client': client }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await workerd.dispatchFetch(`http://localhost/auth/${path}`, init)
      return { status: response.status, text: await response.text() }
    },
    close: () => workerd.dispose(),
  }
})
