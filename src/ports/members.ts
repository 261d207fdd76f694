/**
 * Members of plain objects whose names come from outside.
 *
 * @module
 */

/** Sets a member of its own, as `JSON.parse` does: an assignment to `__proto__` would set the prototype. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else {
    const plain = { writable: true, enumerable: true, configurable: true }
    Object.defineProperty(object, key, { ...plain, value })
  }
}
