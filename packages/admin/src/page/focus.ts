/**
 * Where the focus goes when what had it is gone.
 *
 * @module
 */

/** Those who listen or use keys go on beside what is gone. The browser would leave them at the top of the page. */
export function keepFocus(): void {
  let last: Element | undefined
  addEventListener('focusin', ({ target }) => {
    last = target as Element
  })
  addEventListener('focusout', ({ target }) => {
    // Who leaves what is still there is not brought back.
    queueMicrotask(() => {
      if (last === target && last?.isConnected) last = undefined
    })
  })
  const look = (changes: readonly MutationRecord[]) => {
    const gone = last
    if (!gone || gone.isConnected) return
    last = undefined
    const change = changes.find(({ removedNodes }) =>
      [...removedNodes].some((one) => one.contains(gone)),
    )
    if (change && document.activeElement === document.body) focusBeside(change)
  }
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
}

/** Focuses what comes after the place of a removal, before it, or around it: the first that has something to read. */
function focusBeside({ nextSibling, previousSibling, target }: MutationRecord): void {
  const place = [nextSibling, previousSibling, target, target.parentElement].find(
    (one) => one instanceof HTMLElement && one.isConnected && one.textContent !== '',
  ) as HTMLElement | undefined
  if (!place || place === document.body) return
  if (place.tabIndex < 0) place.tabIndex = -1
  place.focus({ preventScroll: true })
}
