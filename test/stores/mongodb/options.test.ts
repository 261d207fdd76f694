import { describe, expect, it } from 'vitest'
import { mongoStore } from '../../../adapters/stores/mongodb/index.ts'

describe('mongoStore', () => {
  it.each(['w=0', 'w=1', 'w=2', 'journal=false', 'readPreference=secondary'])(
    'refuses an address that says %s',
    (option) => {
      const url = `mongodb://localhost/?${option}`
      expect(() => mongoStore({ url })).toThrow(`mongoStore: remove '${option}' from the address`)
    },
  )

  it('takes an address that says what it does anyway', () => {
    const url = 'mongodb://localhost/?w=majority&journal=true&readPreference=primary'
    expect(mongoStore({ url }).name).toBe('mongodb')
  })

  it.each([{}, Promise.resolve({}), { db: {}, options: {} }, null, 'mongodb://localhost/shop'])(
    'refuses a client that is none: %o',
    (client) => {
      expect(() => mongoStore({ client: client as never })).toThrow(
        "mongoStore: 'client' is no MongoClient. With Mongoose, give it mongoose.connection.getClient(), after mongoose.connect()",
      )
    },
  )

  it.each([{}, { url: '' }, { url: 'http://localhost' }])('refuses %o', (options) => {
    expect(() => mongoStore(options)).toThrow(TypeError)
  })
})
