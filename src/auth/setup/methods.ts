/**
 * The options `methods` and `secondFactor`, and the routes that methods bring.
 *
 * @module
 */

import { fail, group, strings } from '../option-checks.ts'
import type { Method, MethodRoute } from './method.ts'
import type { AuthOptions } from './options.ts'
import { roleSettings } from './roles.ts'

/** The routes that `methods` bring, in the order in which `router.urls` lists them. */
export function methodRoutes(methods: readonly Method[]): readonly MethodRoute[] {
  const own = methods.flatMap(({ routes }) => routes)
  return [...new Set([...(methods[0]?.machinery.routes ?? []), ...own])]
}

/** The option `methods`, checked. */
export function methodsOf(option: AuthOptions<never>['methods'] = []): readonly Method[] {
  const isMethod = (one: Method) => typeof one?.open === 'function' && one.machinery !== undefined
  if (!Array.isArray(option) || !option.every(isMethod)) {
    fail(
      `'methods' must be a list of methods, such as [apiKeys()]. defineMethod() of fieldgate/methods makes your own`,
    )
  }
  const names = [...option.map(({ name, part }) => part ?? name), ...namesOf(methodRoutes(option))]
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) fail(`'methods' has '${twice}' twice`)
  return option
}

function namesOf(routes: readonly MethodRoute[]): readonly string[] {
  return routes.map(({ name }) => name)
}

/** The roles that need a second factor. */
export function requiredForOf(options: AuthOptions<never>): readonly string[] {
  const { requiredFor = [] } = group('secondFactor', options.secondFactor, ['requiredFor'])
  const roles = strings('secondFactor.requiredFor', requiredFor)
  const { list, isListed } = roleSettings(options.roles)
  const unknown = roles.find((role) => isListed && !list.includes(role))
  if (unknown !== undefined) {
    fail(`'secondFactor.requiredFor' names '${unknown}', but 'roles.list' has no such role`)
  }
  return roles
}
