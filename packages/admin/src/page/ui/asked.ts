/**
 * What is asked for of a list goes through the address, which has it some time later. Who types is ahead of it.
 *
 * @module
 */

import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'

/**
 * Calls `onOther` when the address has something that was not asked for here, such as after a step back. What is returned takes
 * what is asked for.
 */
export function useAsked(kept: string, onOther: () => void): (text: string) => void {
  const asked = useRef<readonly string[]>([])
  const seen = useRef(kept)
  const { key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: an address may come with what the one before had
  useEffect(() => {
    const at = asked.current.indexOf(kept)
    const isOther = at < 0 && kept !== seen.current
    seen.current = kept
    // Of several addresses that come at once, only the last one is seen.
    if (at >= 0 || isOther) asked.current = isOther ? [] : asked.current.slice(at + 1)
    if (isOther) onOther()
  }, [kept, key])
  const other = useRef(onOther)
  useEffect(() => {
    other.current = onOther
  })
  useEffect(() => {
    // A step back from an address that was not drawn yet leads to the one that is: nothing changes then.
    const step = () => {
      if (asked.current.length === 0) return
      asked.current = []
      other.current()
    }
    addEventListener('popstate', step)
    return () => removeEventListener('popstate', step)
  }, [])
  return (text) => {
    asked.current = [...asked.current, text]
  }
}
