/**
 * The file fields of a model: those of every router that takes uploads for it.
 *
 * A URL in a file field is a permission: reads sign it, and its object is removed with the record. So every router of
 * the model protects these fields, no matter which router takes the files.
 */

import type { FileStore } from '../ports/services/files.ts'
import type { Fields } from '../ports/store/records.ts'
import { hexOf } from '../ports/values/hex.ts'
import { urlsIn } from './file-values.ts'
import type { Upload } from './options.ts'

/** The file fields of one model, shared by its routers. Complete once every router is mounted. */
export class ModelFiles {
  readonly names: string[] = []
  readonly #prefixes = new Map<string, Set<string>>()

  /** Adds the fields of a router that takes uploads, and the prefix of their files. */
  add({ fields, prefix }: Pick<Upload, 'fields' | 'prefix'>): void {
    for (const name of fields.keys()) {
      const prefixes = this.#prefixes.get(name) ?? new Set()
      if (prefixes.size === 0) this.names.push(name)
      this.#prefixes.set(name, prefixes.add(prefix))
    }
  }

  namedIn(values: Fields): string[] {
    return this.names.filter((name) => Object.hasOwn(values, name))
  }

  /**
   * The keys of the objects that uploads have stored for a record, each with its URL as in the record. Your app's code
   * may have put other URLs there, whose objects fieldgate must not touch.
   */
  objectsOf(record: Fields, store: Pick<FileStore, 'keyOf'> | undefined): Map<string, string> {
    const objects = new Map<string, string>()
    for (const [name, prefixes] of this.#prefixes) {
      for (const url of urlsIn(record[name])) {
        const key = store?.keyOf(url)
        if (key !== undefined && isOneOf(prefixes, key)) objects.set(key, url)
      }
    }
    return objects
  }

  /** Whether an upload to one of the fields may have stored an object under `key`. */
  isOwn(key: string): boolean {
    return [...this.#prefixes.values()].some((prefixes) => isOneOf(prefixes, key))
  }
}

function isOneOf(prefixes: ReadonlySet<string>, key: string): boolean {
  return [...prefixes].some((prefix) => isOwnKey(prefix, key))
}

/** A new key: `<prefix><epoch ms>-<128 random bits>.<extension>`. */
export function newKey(prefix: string, extension: string, now: number): string {
  const random = hexOf(crypto.getRandomValues(new Uint8Array(16)))
  return `${prefix}${now}-${random}.${extension}`
}

const OWN = /^\d{1,16}-[0-9a-f]{32}\.[a-z0-9]+$/

/** Whether `newKey` made `key` for `prefix`; a bucket may hold objects from elsewhere. */
export function isOwnKey(prefix: string, key: string): boolean {
  return key.startsWith(prefix) && OWN.test(key.slice(prefix.length))
}
