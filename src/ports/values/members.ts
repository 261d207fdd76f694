/** Members of plain objects and elements of lists, as they come from outside. */

/** Sets an own member, as `JSON.parse` does: assigning to `__proto__` would set the prototype. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else {
    const plain = { writable: true, enumerable: true, configurable: true }
    Object.defineProperty(object, key, { ...plain, value })
  }
}

/** A list with what `make` makes of each element; `list` itself if that changes none. */
export function changedList(
  list: readonly unknown[],
  make: (item: unknown, at: number) => unknown,
): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let at = 0; at < list.length; at += 1) {
    const made = make(list[at], at)
    if (made === list[at]) continue
    copy ??= list.slice()
    copy[at] = made
  }
  return copy ?? list
}
