/**
 * Small parts that screens are made of.
 *
 * @module
 */

import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'
import { useAdmin } from '../context.ts'
import { useStrings } from '../i18n.ts'

const PATHS = {
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4',
  filter: 'M4 6h16M7 12h10M10 18h4',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  chart: 'M5 20V10M12 20V4M19 20v-7',
  menu: 'M4 7h16M4 12h16M4 17h16',
  left: 'M15 5l-7 7 7 7',
  right: 'M9 5l7 7-7 7',
  up: 'M6 14l6-6 6 6',
  down: 'M6 10l6 6 6-6',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 5v6h-6',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 20a7 7 0 0 1 14 0',
  file: 'M7 3h7l4 4v14H7zM14 3v5h4',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
} as const

export type IconName = keyof typeof PATHS

/** A drawn sign. The control that it is in has the words. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** A button that may have nothing to do. It keeps the focus then, which the browser takes from one that is `disabled`. */
export function Button(props: {
  className?: string
  isOff: boolean
  onClick: () => void
  children: ReactNode
}) {
  const { isOff, onClick, ...others } = props
  return (
    <button
      type="button"
      {...others}
      aria-disabled={isOff}
      onClick={() => {
        if (!isOff) onClick()
      }}
    />
  )
}

/** A window over the page, for a decision. Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode }) {
  const { title, onClose, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Closed before it is gone, it gives the focus back to what opened it.
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={onClose}
      onKeyDown={({ key, target }) => {
        const { type, value } = target as HTMLInputElement
        // WebKit takes the key in a search to empty it, though it is empty.
        if (key === 'Escape' && type === 'search' && value === '') onClose()
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

interface Decided {
  readonly action: string
  readonly isDanger?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before something is done. */
export function Confirmation(props: { title: string; text: string } & Decided) {
  const { title, text, onClose } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Decision {...props} />
    </Dialog>
  )
}

/** The buttons of a window in which something is decided. */
export function Decision({ action, isDanger = false, onConfirm, onClose }: Decided) {
  const t = useStrings()
  return (
    <div className="buttons end">
      <button type="button" onClick={onClose}>
        {t('cancel')}
      </button>
      <button type="button" className={isDanger ? 'danger' : 'primary'} onClick={onConfirm}>
        {action}
      </button>
    </div>
  )
}

/** Gives the focus to what appears. */
export const focus = (shown: HTMLElement | null) => shown?.focus()

/** A sentence at its place: read out when it appears. It takes the focus if what had it will be gone. */
export function Notice(props: {
  kind: 'error' | 'info' | 'done'
  takesFocus?: boolean
  children: ReactNode
}) {
  const { kind, takesFocus = false, children } = props
  if (!children) return null
  return (
    <div
      className={`notice ${kind}`}
      role={kind === 'error' ? 'alert' : 'status'}
      tabIndex={-1}
      ref={takesFocus ? focus : null}
    >
      {children}
    </div>
  )
}

/** That something is on its way; only where it takes a while. */
export function Loading() {
  const t = useStrings()
  return (
    <p className="loading" role="status">
      {t('loading')}
    </p>
  )
}

/** What was done on the way to this screen, which is not done again by a step back or a reload. */
export function useDone(): { readonly done?: string; readonly path?: string } {
  const { state } = useLocation()
  return useNavigationType() === 'POP' ? {} : (state ?? {})
}

/** The head of a screen. */
export function Head(props: { title: string; below?: ReactNode; children?: ReactNode }) {
  const { title, below, children } = props
  const { title: page } = useAdmin()
  useEffect(() => {
    document.title = title === page ? page : `${title} · ${page}`
  }, [title, page])
  return (
    <header className="head">
      <div>
        <h1>{title}</h1>
        {below && <p className="muted">{below}</p>}
      </div>
      {children && <div className="buttons">{children}</div>}
    </header>
  )
}

/** What is said where there is no screen, which has a title all the same. */
export function Instead(props: { title?: string; children: ReactNode }) {
  const { title } = useAdmin()
  return (
    <>
      <Head title={props.title ?? title} />
      <Notice kind="error">{props.children}</Notice>
    </>
  )
}
