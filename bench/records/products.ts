/**
 * The records that every server of the bench answers from, made up from their numbers: product 17 is the same
 * everywhere.
 *
 * @module
 */

/** One record. */
export interface ProductRecord {
  readonly _id: string
  readonly sku: string
  readonly name: string
  readonly category: string
  readonly price: number
  readonly stock: number
  readonly active: boolean
  readonly description: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The fields in the order in which tables have them. */
export const COLUMNS = [
  '_id',
  'sku',
  'name',
  'category',
  'price',
  'stock',
  'active',
  'description',
  'createdAt',
  'updatedAt',
] as const

/** How many categories there are. */
export const CATEGORIES = 40

/** The category that creates write to, so that what they made can be found and removed. */
export const CREATED = 'created'

const FINISHES = 'amber black bright copper dusky faded green hollow ivory matt oaken pale'.split(
  ' ',
)
/** What a product can be: a search for one of them finds one product in twelve. */
export const THINGS =
  'armchair basket candle desk easel frame goblet hammock inkwell jug kettle lamp'.split(' ')

/** A word with diacritics, in the name of one product in a thousand. */
export const ACCENTED = 'étagère'

/** The product of that number. */
export function product(number: number): ProductRecord {
  const finish = pick(FINISHES, number, 1)
  const thing = number % 1000 === 7 ? ACCENTED : pick(THINGS, number, 2)
  const at = new Date(1_700_000_000_000 + number * 1000)
  return {
    _id: productId(number),
    sku: `SKU-${String(number).padStart(7, '0')}`,
    name: `${finish} ${thing} ${code(number)}`,
    category: category(hash(number, 3) % CATEGORIES),
    price: (100 + (hash(number, 4) % 10_000_000)) / 100,
    stock: hash(number, 5) % 1000,
    active: hash(number, 6) % 10 > 0,
    description: `A ${finish} ${thing} for ${pick(THINGS, number, 7)} and ${pick(THINGS, number, 8)}, made by hand, sent within two days and taken back within thirty.`,
    createdAt: at,
    updatedAt: at,
  }
}

/** A value as SQLite keeps it. */
export function sqlValue(value: ProductRecord[keyof ProductRecord]): string | number {
  if (typeof value === 'boolean') return Number(value)
  return value instanceof Date ? value.toISOString() : value
}

/** The id of that number: an ObjectId's 24 digits, in ascending order. */
export function productId(number: number): string {
  return `6553f100${number.toString(16).padStart(16, '0')}`
}

/** An order of a product. */
export interface OrderRecord {
  readonly _id: string
  readonly product: string
  readonly quantity: number
}

/** How many products there are for one order: every tenth is ordered once. */
export const PRODUCTS_PER_ORDER = 10

/** The order of that number. */
export function order(number: number): OrderRecord {
  return {
    _id: `6553f101${number.toString(16).padStart(16, '0')}`,
    product: productId(number * PRODUCTS_PER_ORDER),
    quantity: 1 + (hash(number, 9) % 5),
  }
}

/** The name of that category. */
export function category(number: number): string {
  return `category-${number}`
}

/** Six letters that no other product has; a search for five of them finds one product, whatever the size. */
export function code(number: number): string {
  let rest = (number * 150_889_571) % 26 ** 6
  let letters = ''
  for (let at = 0; at < 6; at += 1) {
    letters += String.fromCharCode(65 + (rest % 26))
    rest = Math.floor(rest / 26)
  }
  return letters
}

function pick(words: readonly string[], number: number, salt: number): string {
  return words[hash(number, salt) % words.length] ?? ''
}

/** A number of 32 bits that looks random (the finaliser of MurmurHash3). */
function hash(number: number, salt: number): number {
  let mixed = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
