/**
 * What both services find in the database.
 *
 * @module
 */

import { type Db, ObjectId } from 'mongodb'
import { CHOSEN, IDS, MAKERS } from './pairs.ts'

const NAMES = ['anvil', 'bolt', 'clamp', 'drill', 'edge', 'file', 'gouge', 'hammer']

/** As Mongoose writes them: all fields, `__v`, an old document without most fields, one with a member of no schema. */
function items(): object[] {
  return IDS.slice(0, -1).map((id, at) => {
    const _id = new ObjectId(id)
    if (at === 5) return { _id, name: 'old' }
    return {
      _id,
      name: NAMES[at] ?? `item ${at}`,
      code: `A-${at}`,
      price: at * 7,
      stock: at,
      active: at % 2 === 0,
      status: at % 3 === 0 ? 'live' : 'draft',
      tags: at % 2 === 0 ? ['red', 'new'] : ['red'],
      size: { w: at, h: 2 },
      seen: new Date('2024-01-15'),
      maker: new ObjectId(MAKERS[at % 2] ?? ''),
      secret: 'hush',
      __v: 0,
      ...(at === 6 && { undeclared: true }),
    }
  })
}

/** Puts the data as it is at the beginning. */
export async function seed(db: Db): Promise<void> {
  await db.collection('items').deleteMany({})
  await db.collection('makers').deleteMany({})
  await db.collection('items').insertMany(items())
  const makers = MAKERS.map((id, at) => ({
    _id: new ObjectId(id),
    name: `Maker ${String(at).padStart(3, '0')}`,
    __v: 0,
  }))
  await db.collection('makers').insertMany(makers)
}

/** All that is stored, in order, with what was made at random replaced. */
export async function stored(db: Db): Promise<unknown> {
  const known = new Set([...IDS, ...MAKERS, CHOSEN])
  const read = async (name: string) => {
    const documents = await db.collection(name).find().sort({ _id: 1 }).toArray()
    return documents.map((document) => ({
      ...document,
      _id: known.has(String(document._id)) ? String(document._id) : 'new',
    }))
  }
  return JSON.parse(JSON.stringify([await read('items'), await read('makers')]))
}
