/** Dates as PostgreSQL writes and reads them. */

import { literal } from './sql.ts'

/** `date` as the text of a `timestamp with time zone`; years before 1 and after 9999 are spelled as there. */
export function dateText(date: Date): string {
  const iso = date.toISOString()
  if (!/^[+-]|^0000/.test(iso)) return iso
  const year = date.getUTCFullYear()
  const rest = iso.slice(iso.indexOf('-', 1))
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

export type DateType = 'timestamptz' | 'timestamp' | 'date'

/** What `infinity` and `-infinity` are read as: the last and the first date that clients can write. */
export const LAST = '9999-12-31T23:59:59.999Z'
export const FIRST = '0000-01-01T00:00:00.000Z'

/** A date of any program as it is read: without parts of a millisecond, and `LAST` or `FIRST` where JavaScript has none. */
export function readableDate(sql: string, type: DateType): string {
  const [first, last] = [FIRST, LAST].map((iso) => literal(dateText(new Date(iso))))
  const cut = type === 'date' ? `${sql}::timestamp` : `date_trunc('milliseconds', ${sql})`
  return `CASE WHEN ${sql} >= '275760-09-13' THEN ${last} WHEN ${sql} = '-infinity' THEN ${first} ELSE ${cut} END`
}

/** The same as JSON has dates: a string with a year of four digits, of the years from 1 to 9999. */
export function readableDateJson(sql: string, type: DateType): string {
  const utc = type === 'timestamptz' ? `${sql} AT TIME ZONE 'UTC'` : `${sql}::timestamp`
  const text = `to_char(${utc}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return `CASE WHEN ${sql} >= '10000-01-01' THEN ${literal(LAST)} WHEN ${sql} < '0001-01-01' THEN ${literal(FIRST)} ELSE ${text} END`
}

const TEXT =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d)(\.\d+)?(?:([+-]\d\d)(:\d\d)?(?::\d\d)?)?( BC)?$/

/**
 * The date of a text that PostgreSQL wrote, with its `DateStyle` ISO. Without a zone it is in UTC. Digits beyond the
 * milliseconds are cut. A date that JavaScript does not have becomes `LAST` or `FIRST`.
 */
export function dateFrom(text: string): Date {
  return new Date(isoFrom(text))
}

/** `dateFrom` as ISO 8601. */
export function isoFrom(text: string): string {
  const zone = text.endsWith('+00') ? 3 : 0
  const [plain, fraction] = [text.length - zone, text.indexOf('.')]
  // Four digits of a year, and a zone of UTC or none: almost every date.
  if (text[10] === ' ' && (fraction === 19 || (fraction === -1 && plain === 19))) {
    const digits = fraction === -1 ? '' : text.slice(20, plain)
    if (/^\d*$/.test(digits)) {
      return `${text.slice(0, 10)}T${text.slice(11, 19)}.${digits.slice(0, 3).padEnd(3, '0')}Z`
    }
  }
  return unusual(text)
}

function unusual(text: string): string {
  if (text === 'infinity') return LAST
  if (text === '-infinity') return FIRST
  const parts = TEXT.exec(text)
  if (!parts) throw new TypeError(`PostgreSQL wrote the date ${JSON.stringify(text)}`)
  const [, year = '', month, day, time] = parts
  const [fraction = '.000', hours = '+00', minutes = ':00', isBefore] = parts.slice(5)
  const number = isBefore ? 1 - Number(year) : Number(year)
  const written =
    number >= 0 && number <= 9999
      ? String(number).padStart(4, '0')
      : `${number < 0 ? '-' : '+'}${String(Math.abs(number)).padStart(6, '0')}`
  const zone = hours === '+00' && minutes === ':00' ? 'Z' : `${hours}${minutes}`
  const iso = `${written}-${month}-${day}T${time}${fraction.padEnd(4, '0').slice(0, 4)}${zone}`
  const date = new Date(iso)
  // PostgreSQL's years reach to 294276, JavaScript's to 275760.
  return Number.isNaN(date.getTime()) ? LAST : date.toISOString()
}
