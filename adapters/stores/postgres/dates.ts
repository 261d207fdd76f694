/**
 * Dates as PostgreSQL writes and reads them.
 *
 * @module
 */

/** `date` as the text of a `timestamp with time zone`; years before 1 and after 9999 are spelled as there. */
export function dateText(date: Date): string {
  const iso = date.toISOString()
  if (!/^[+-]|^0000/.test(iso)) return iso
  const year = date.getUTCFullYear()
  const rest = iso.slice(iso.indexOf('-', 1))
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

/** `date` as JSON holds it: fixed width, so that strings compare as dates do. No stored date is beyond the year 9999. */
export function isoText(date: Date): string {
  const text = date.toISOString()
  return text.startsWith('+') ? ':' : text
}

const TEXT =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d)(\.\d+)?(?:([+-]\d\d)(:\d\d)?(?::\d\d)?)?( BC)?$/

/**
 * The date of a text that PostgreSQL wrote, with its `DateStyle` ISO. Without a zone it is in
 * UTC. Digits beyond the milliseconds are cut.
 */
export function dateFrom(text: string): Date {
  const parts = TEXT.exec(text)
  if (!parts) throw new TypeError(`PostgreSQL wrote the date ${JSON.stringify(text)}`)
  const [
    ,
    year = '',
    month,
    day,
    time,
    fraction = '.000',
    hours = '+00',
    minutes = ':00',
    isBefore,
  ] = parts
  const number = isBefore ? 1 - Number(year) : Number(year)
  const written =
    number >= 0 && number <= 9999
      ? String(number).padStart(4, '0')
      : `${number < 0 ? '-' : '+'}${String(Math.abs(number)).padStart(6, '0')}`
  const zone = hours === '+00' && minutes === ':00' ? 'Z' : `${hours}${minutes}`
  return new Date(`${written}-${month}-${day}T${time}${fraction.padEnd(4, '0').slice(0, 4)}${zone}`)
}
