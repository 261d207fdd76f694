/**
 * The frame around screens: the menu, and who is signed in.
 *
 * @module
 */

import { useGetIdentity, useLocaleState, useLocales, useLogout } from 'ra-core'
import { type ReactNode, type SyntheticEvent, useEffect, useRef, useState } from 'react'
import { Link, NavLink, useLocation } from 'react-router'
import { useAdmin, useRights } from '../context.ts'
import { useStrings } from '../i18n.ts'
import { SIGN_IN } from '../session.ts'
import { Icon } from './parts.tsx'
import { ThemeChoice } from './theme.tsx'

/** With more entries, the menu can be searched. */
const LONG_MENU = 12

/** The menu beside a screen. */
export function Layout({ children }: { children: ReactNode }) {
  const { title } = useAdmin()
  const t = useStrings()
  const [isOpen, setOpen] = useState(false)
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const before = useRef(pathname)
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    // Those who listen or use keys begin where the new screen does.
    main.current?.focus()
    window.scrollTo(0, 0)
  }, [pathname])
  useEffect(() => {
    if (!isOpen) return
    const close = ({ key }: KeyboardEvent) => {
      // An open dialog is closed before.
      if (key !== 'Escape' || document.querySelector('dialog')) return
      setOpen(false)
      opener.current?.focus()
    }
    document.addEventListener('keydown', close)
    return () => document.removeEventListener('keydown', close)
  }, [isOpen])
  // A link may lead to the screen that is there.
  const leave = ({ target }: SyntheticEvent) => {
    if ((target as Element).closest('a')) main.current?.focus()
  }
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {t('skip')}
      </button>
      <header className="bar">
        <button
          ref={opener}
          type="button"
          className="quiet"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
          <span className="hidden">{t('menu')}</span>
        </button>
        <span className="brand">{title}</span>
      </header>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys follow a link by a click, too */}
      <aside id="menu" className={isOpen ? 'open' : ''} onClick={leave}>
        <Link to="/" className="brand">
          {title}
        </Link>
        <Menu />
        <Settings />
      </aside>
      {/* What has the focus is not behind the menu. */}
      <main ref={main} tabIndex={-1} onFocus={() => setOpen(false)}>
        {children}
      </main>
    </div>
  )
}

function Menu() {
  const { shape } = useAdmin()
  const rights = useRights()
  const t = useStrings()
  const [wanted, setWanted] = useState('')
  const shown = shape.resources.filter(rights.shows)
  const found = shown.filter((one) => one.title.toLowerCase().includes(wanted.toLowerCase()))
  return (
    <nav aria-label={t('menu')}>
      {shown.length > LONG_MENU && (
        <input
          type="search"
          aria-label={t('filterMenu')}
          placeholder={t('filterMenu')}
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
      )}
      <ul>
        {found.map(({ name, title, isUsers }) => (
          <li key={name}>
            <NavLink to={`/${name}`}>{isUsers && title === 'Users' ? t('users') : title}</NavLink>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** At the foot of the menu: who is signed in, the language, light or dark. */
function Settings() {
  const { accounts } = useAdmin()
  const t = useStrings()
  return (
    <div className="settings">
      {accounts && <Who />}
      <details>
        <summary>{t('settings')}</summary>
        <Language />
        <ThemeChoice />
      </details>
    </div>
  )
}

function Who() {
  const t = useStrings()
  const { identity } = useGetIdentity()
  const logout = useLogout()
  function leave(): void {
    // Without a place to come back to.
    history.replaceState(null, '', `#${SIGN_IN}`)
    void logout({}, SIGN_IN, false)
  }
  if (!identity) return null
  if (identity.isGuest) {
    return (
      <p className="who">
        <span>{t('anonymous')}</span>
        <Link to="/login">{t('signIn')}</Link>
      </p>
    )
  }
  return (
    <p className="who">
      <Link to="/account">
        <Icon name="user" />
        <span>{identity.fullName}</span>
      </Link>
      <button type="button" className="link" onClick={leave}>
        {t('signOut')}
      </button>
    </p>
  )
}

/** Chooses the language. */
export function Language() {
  const t = useStrings()
  const locales = useLocales()
  const [locale, setLocale] = useLocaleState()
  return (
    <label className="field small">
      <span>{t('language')}</span>
      <select value={locale} onChange={({ target }) => setLocale(target.value)}>
        {locales.map((one) => (
          <option key={one.locale} value={one.locale}>
            {one.name}
          </option>
        ))}
      </select>
    </label>
  )
}
