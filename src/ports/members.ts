/** Sets members of plain objects whose names come from outside. */

/** Sets an own member, as `JSON.parse` does: assigning to `__proto__` would set the prototype. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else {
    const plain = { writable: true, enumerable: true, configurable: true }
    Object.defineProperty(object, key, { ...plain, value })
  }
}
