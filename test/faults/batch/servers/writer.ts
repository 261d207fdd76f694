/** Writes batches one after the other, and tells its parent of each: `writer.ts <place as JSON> <books as JSON>`. */

import { batchOf, type Holding, libraryAt } from '../books.ts'

const { app, holdings } = libraryAt(JSON.parse(process.argv[2] ?? ''))
const names: readonly string[] = JSON.parse(process.argv[3] ?? '')

async function write(name: string): Promise<void> {
  for (;;) {
    const [holding] = await holdings([name])
    if (!holding) throw new Error(`no book ${name}`)
    await writeNext(name, holding)
  }
}

async function writeNext(name: string, holding: Holding): Promise<void> {
  const at = Number(holding.book.at) + 1
  process.send?.({ begun: name })
  const response = await app.handle(
    new Request('http://localhost/batch', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operations: batchOf(holding, at) }),
    }),
  )
  if (response.status !== 200) throw new Error(await response.text())
  process.send?.({ name, at })
}

await app.ready()
process.send?.('ready')
await Promise.all(names.map(write))
