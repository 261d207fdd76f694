/** Handlers without a router, as `express-controller-sets` had them. */

import { firstResponse } from '../../src/app/guards.ts'
import type { ApiRequest } from '../../src/http/request/request.ts'
import { isResponse } from '../../src/http/response/respond.ts'
import type { Model } from '../../src/model/model.ts'
import { type Host, hostOf } from '../../src/records/engine/host.ts'
import type { Context } from '../../src/records/engine/route.ts'
import { createRouter } from '../../src/records/router.ts'
import type { OnGet, RunAfterCreate } from '../../src/records/rules/hooks.ts'
import type { RouterOptions } from '../../src/records/setup/options.ts'
import { warnOnce } from './warn.ts'

/** A handler of a set. */
export type SetHandler = (request: ApiRequest, context: Context) => Promise<Response>

/**
 * The handlers of a model, for routes that you register yourself: `router.get('/top', sets.getAll)`. Handlers of one
 * record need `:id` in the route's path.
 *
 * @deprecated Use `createRouter`, which registers the routes too. Removed in 4.0.
 */
export class ControllerSets<R> {
  readonly #options: RouterOptions<R>
  readonly #positional: boolean
  readonly #tables = new WeakMap<Host, ReadonlyMap<string, SetHandler>>()

  /** `GET` of the list. */
  readonly getAll: SetHandler = (request, context) => this.#run('GET ', request, context)
  /** QUERY of the list. */
  readonly query: SetHandler = (request, context) => this.#run('QUERY ', request, context)
  /** `GET` of one record. */
  readonly get: SetHandler = (request, context) => this.#run('GET /:id', request, context)
  /** `POST`. */
  readonly create: SetHandler = (request, context) => this.#run('POST ', request, context)
  /** `PATCH`. */
  readonly update: SetHandler = (request, context) => this.#run('PATCH /:id', request, context)
  /** `DELETE`. */
  readonly delete: SetHandler = (request, context) => this.#run('DELETE /:id', request, context)

  /** @deprecated Use `query`. */
  readonly queryAll: SetHandler = this.query
  /** @deprecated Use `get`. */
  readonly getById: SetHandler = this.get

  constructor(options: RouterOptions<R>)
  /** @deprecated Pass the options as one object. */
  constructor(
    model: Model<R>,
    orderBy?: RouterOptions<R>['orderBy'],
    query?: RouterOptions<R>['query'],
    search?: RouterOptions<R>['search'],
    runAfterCreate?: RunAfterCreate<R>,
    onGet?: OnGet<R>,
  )
  constructor(
    first: RouterOptions<R> | Model<R>,
    orderBy?: RouterOptions<R>['orderBy'],
    query?: RouterOptions<R>['query'],
    search?: RouterOptions<R>['search'],
    runAfterCreate?: RunAfterCreate<R>,
    onGet?: OnGet<R>,
  ) {
    this.#positional = !('model' in first)
    refusePlaceholders(orderBy, query, search, runAfterCreate, onGet)
    this.#options =
      'model' in first
        ? first
        : {
            model: first,
            ...(orderBy !== undefined && { orderBy }),
            ...(query && { query }),
            ...(search && { search }),
            ...(runAfterCreate && { runAfterCreate }),
            ...(onGet && { onGet }),
          }
  }

  async #run(row: string, request: ApiRequest, context: Context): Promise<Response> {
    const host = hostOf(context.store)
    const handler = this.#table(host).get(row)
    if (!handler) throw new TypeError(`ControllerSets: ${row.trim()} is switched off by an option`)
    // The options' declarations are known only from the first request on, so the store may have to catch up.
    await host.ready()
    return handler(request, context)
  }

  #table(host: Host): ReadonlyMap<string, SetHandler> {
    const known = this.#tables.get(host)
    if (known) return known
    if (this.#positional) {
      warnOnce(
        host.logger,
        'positional',
        'new ControllerSets(model, orderBy, …) is deprecated: pass the options as one object.',
      )
    }
    const name = `ControllerSets(${this.#options.model.name})`
    // Its guards, if any, run before the handlers and cannot be seen from here.
    const rows = createRouter<R>({ middlewares: [], ...this.#options }).attach(host, name)
    const table = new Map(
      rows.map(({ method, path, guards, handler }): [string, SetHandler] => [
        `${method} ${path}`,
        async (request, context) => {
          const response =
            (await firstResponse(guards, request, context)) ?? (await handler(request, context))
          if (isResponse(response)) return response
          throw new TypeError(`${name}: no guard or handler returned a Response`)
        },
      ]),
    )
    this.#tables.set(host, table)
    return table
  }
}

/** Throws for the 'none' that older code passes where it means nothing: it would be a field that no model has. */
function refusePlaceholders(...given: readonly unknown[]): void {
  if (given.includes('none'))
    throw new TypeError(
      "ControllerSets: 'none' means nothing here; pass undefined, or the options as one object",
    )
}
