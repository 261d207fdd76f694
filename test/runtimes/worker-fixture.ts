/**
 * A Worker for the tests of `worker` and `appObject`: each app answers with a name of its own.
 *
 * @module
 */

import { diskFiles } from '../../adapters/files/disk.ts'
import {
  appObject,
  type ObjectNamespace,
  type WorkerContext,
  type WorkerHandler,
  worker,
} from '../../adapters/runtimes/workers.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { App } from '../../src/app/app.ts'
import { createApp } from '../../src/index.ts'

interface Env {
  readonly API: unknown
}

let made = 0

function named(): App {
  made += 1
  const name = crypto.randomUUID()
  const handle = async (request: Request, env: Env, platform: WorkerContext) => {
    if (new URL(request.url).pathname === '/broken') throw new Error('not to be shown')
    platform.waitUntil(Promise.resolve())
    return Response.json({ name, bindings: Object.keys(env) })
  }
  return { handle } as unknown as App
}

/** Fails the first time, as with a binding that is not there yet. */
const failing = worker<Env>(() => {
  if (made === 0) {
    made += 1
    throw new Error('not to be shown')
  }
  return named()
})

export const Api = appObject<Env>(named)
const objects = Api.worker({ binding: 'API', instances: 3 })

const SECRET = 'a secret of at least thirty-two characters'

/** A Worker that chooses the object itself. */
function own(request: Request, { API }: Env): Promise<Response> {
  const objects = API as ObjectNamespace
  return objects.get(objects.idFromName('own') as never).fetch(request)
}

const answering: Readonly<Record<string, WorkerHandler<Env>>> = {
  '/object': objects,
  '/broken': objects,
  '/sqlite': worker<Env>(() => createApp({ store: sqliteStore() })),
  '/disk': worker<Env>(() =>
    createApp({ store: {} as never, files: diskFiles({ root: '/tmp/uploads', secret: SECRET }) }),
  ),
  '/unbound': Api.worker({ binding: 'ABSENT' as never }),
}

export default {
  fetch: (request: Request, env: Env, context: WorkerContext): Promise<Response> =>
    new URL(request.url).pathname === '/own'
      ? own(request, env)
      : (answering[new URL(request.url).pathname] ?? failing).fetch(request, env, context),
}
