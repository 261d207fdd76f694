/**
 * A text as a QR code. It is loaded when one is shown.
 *
 * @module
 */

import { generate } from 'lean-qr'
import { useMemo } from 'react'

/** Light modules around the code, which readers need. */
const EDGE = 4

/** The code, dark on light in every theme, because readers take no other. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => drawn(text), [text])
  const whole = size + 2 * EDGE
  return (
    <svg className="qr" viewBox={`0 0 ${whole} ${whole}`} role="img" aria-label={label}>
      <rect width={whole} height={whole} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function drawn(text: string): { readonly size: number; readonly path: string } {
  const code = generate(text)
  let path = ''
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      if (code.get(x, y)) path += `M${x + EDGE} ${y + EDGE}h1v1h-1z`
    }
  }
  return { size: code.size, path }
}
