/**
 * Light or dark: as the system has it, unless the user has chosen.
 *
 * @module
 */

import { useState } from 'react'
import { useStrings } from '../i18n.ts'
import { local } from '../kept.ts'

const KEY = 'fieldgate-admin.theme'
const THEMES = ['system', 'light', 'dark'] as const

/** Shows the page as it was last chosen. */
export function applyTheme(theme = local.getItem(KEY) ?? 'system'): void {
  document.documentElement.dataset.theme = theme
}

/** Chooses between light and dark. */
export function ThemeChoice() {
  const t = useStrings()
  const [theme, setTheme] = useState(document.documentElement.dataset.theme)
  return (
    <label className="field small">
      <span>{t('appearance')}</span>
      <select
        value={theme}
        onChange={({ target: { value } }) => {
          local.setItem(KEY, value)
          applyTheme(value)
          setTheme(value)
        }}
      >
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {t(name)}
          </option>
        ))}
      </select>
    </label>
  )
}
