/**
 * The path under which another server mounts the app, such as `/api`: the URLs of requests are without it.
 *
 * @module
 */

import type { ApiRequest } from './request.ts'

const bases = new WeakMap<ApiRequest, string>()

/** Notes by which path `request` has come to the app. */
export function noteBasePath(request: ApiRequest, basePath = ''): void {
  const base = basePath.replace(/\/$/, '')
  if (base !== '') bases.set(request, base)
}

/** The path under which another server mounts the app; empty if none does. */
export function basePathOf(request: ApiRequest): string {
  return bases.get(request) ?? ''
}
