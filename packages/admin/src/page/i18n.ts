/**
 * The language of the page: that of the browser, unless the user has chosen one.
 *
 * @module
 */

import { type I18nProvider, useLocaleState, useTranslate } from 'ra-core'
import { en, type Strings } from './en.ts'
import { local } from './kept.ts'
import { numberText } from './numbers.ts'

const LOCALES = [
  { locale: 'en', name: 'English' },
  { locale: 'de', name: 'Deutsch' },
]
const KEY = 'fieldgate-admin.locale'

/** The strings of a language; those that are not in the first load come when they are chosen. */
async function stringsOf(locale: string): Promise<Strings> {
  return locale === 'de' ? (await import('./de.ts')).de : en
}

/** A value for the middle of a sentence: what is written from right to left must not turn the rest of it around. */
function isolated(value: string): string {
  return /[\u0590-\u08ff\ufb1d-\ufefc\p{Bidi_C}]/u.test(value) ? `\u2068${value}\u2069` : value
}

/** The languages, as react-admin takes them. */
export async function languages(): Promise<I18nProvider> {
  const wanted = local.getItem(KEY) ?? navigator.language.slice(0, 2)
  let locale = LOCALES.some((one) => one.locale === wanted) ? wanted : 'en'
  let strings: Readonly<Record<string, string>> = await stringsOf(locale)
  document.documentElement.lang = locale
  return {
    translate(key, values: Readonly<Record<string, unknown>> = {}) {
      // For one, and for any other number.
      const [one = String(values._ ?? key), more = one] = strings[key]?.split(' | ') ?? []
      const text = `${values.count}` === '1' ? one : more
      return text.replace(/%\{(\w+)\}/g, (_, name) => isolated(`${values[name]}`))
    },
    async changeLocale(next) {
      strings = await stringsOf(next)
      locale = next
      local.setItem(KEY, next)
      document.documentElement.lang = next
    },
    getLocale: () => locale,
    getLocales: () => LOCALES,
  }
}

/** Translates by the names of `en.ts`. */
export function useStrings(): (
  name: keyof Strings,
  values?: Readonly<Record<string, unknown>>,
) => string {
  return useTranslate()
}

/** How numbers and dates are written in the user's language. */
export function useFormats(): {
  readonly number: (value: number) => string
  readonly date: (value: string) => string
  readonly time: (value: string) => string
} {
  const [locale] = useLocaleState()
  return {
    number: (value) => numberText(value, locale),
    date: (value) =>
      new Date(`${value.slice(0, 10)}T00:00:00`).toLocaleDateString(locale, {
        dateStyle: 'medium',
      }),
    time: (value) =>
      new Date(value).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' }),
  }
}
