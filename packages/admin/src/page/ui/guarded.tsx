/**
 * Screens that cannot be drawn: their code is loaded when it is needed, and may be out of reach by then, or no longer there once
 * the app has been replaced.
 *
 * @module
 */

import { Component, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import { useStrings } from '../i18n.ts'
import { Instead } from './parts.tsx'

interface Parts {
  readonly children: ReactNode
  readonly instead: ReactNode
}

class Boundary extends Component<Parts, { isBroken: boolean }> {
  override state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override render() {
    return this.state.isBroken ? this.props.instead : this.props.children
  }
}

/** The screen of a path, or what to do if it cannot be drawn; the menu beside it stays. */
export function Guarded({ children }: { children: ReactNode }) {
  const t = useStrings()
  const instead = (
    <Instead>
      {t('screenFailed')}{' '}
      <button type="button" className="link" onClick={() => location.reload()}>
        {t('reload')}
      </button>
    </Instead>
  )
  return (
    <Boundary key={useLocation().pathname} instead={instead}>
      {children}
    </Boundary>
  )
}
