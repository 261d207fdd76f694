/**
 * What the programs for admin interfaces start from: a page's globals, and a client that knows nobody.
 *
 * @module
 */

import { createClient } from '../../src/client/index.ts'
import type { TestApp } from './app.ts'

/** Makes what React and admin interfaces look for when they are loaded global. */
export function makeGlobal(window: object): void {
  for (const name of ['window', 'document', 'Element', 'HTMLElement', 'Node', 'localStorage']) {
    Object.defineProperty(globalThis, name, { value: Reflect.get(window, name) })
  }
}

/** A client of its own for an app, whose cities it removes. */
export async function freshClient(url: string) {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  }
  const api = createClient<TestApp>(url, { storage })
  for await (const { _id } of api('/cities').all()) await api('/cities').remove(_id)
  return api
}
