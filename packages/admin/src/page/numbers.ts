/** A number in a language. Years are numbers too: only larger ones are grouped. What is nearly zero does not look like it. */
export function numberText(value: number, locale: string): string {
  const form =
    value !== 0 && Math.abs(value) < 1e-6
      ? { notation: 'scientific', maximumSignificantDigits: 15 }
      : { useGrouping: 'min2', maximumFractionDigits: 12 }
  return value.toLocaleString(locale, form as object)
}
