/** Every runtime on the stores that need no server; http.long.test.ts has the other stores. */

import { alike, conforms } from './conforms.ts'
import { runtimes, start } from './runtimes.ts'
import { startWorkerd } from './workerd.ts'

for (const [runtime, command] of Object.entries(runtimes)) {
  conforms(`${runtime} on SQLite`, () => start(command))
}

conforms('workerd on D1', startWorkerd)

alike()
