/**
 * bknd on Node's SQLite, with its timestamps and without its admin pages: `bknd.js <SQLite file>`
 *
 * @module
 */

import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { boolean, em, entity, number, text } from 'bknd'
import { nodeSqlite, serve } from 'bknd/adapter/node'
import { timestamps } from 'bknd/plugins'

const required = { required: true }

const schema = em(
  {
    products: entity(
      'products',
      {
        sku: text({ ...required, maxLength: 40 }),
        name: text({ ...required, maxLength: 200 }),
        category: text({ ...required, maxLength: 60 }),
        price: number({ ...required, minimum: 0 }),
        stock: number({ ...required, minimum: 0 }),
        active: boolean(required),
        description: text({ ...required, maxLength: 2000 }),
      },
      { primary_format: 'uuid' },
    ),
  },
  ({ index }, { products }) => {
    index(products).on(['price']).on(['category', 'price'])
  },
)

serve({
  connection: nodeSqlite({
    url: `file:${process.argv[2]}`,
    onCreateConnection: (database) => {
      database.exec('PRAGMA journal_mode = WAL')
    },
  }),
  config: { data: schema.toJSON() },
  options: { plugins: [timestamps({ entities: ['products'] })] },
  adminOptions: false,
  distPath: relative('.', dirname(fileURLToPath(import.meta.resolve('bknd')))),
  port: 0,
  hostname: '127.0.0.1',
  listener: ({ port }) => console.log(`listening ${port}`),
})
