/**
 * The functions that hook.ts has seen, and the way of what runs now.
 *
 * @module
 */

/** `names` are `file#function`, in the order in which files were loaded; `log` has their indexes while it is there. */
export const way: { readonly names: string[]; log: number[] | undefined } = {
  names: [],
  log: undefined,
}
