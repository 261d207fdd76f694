import type { R2Binding } from '../../../../adapters/files/r2.ts'
import { r2Files } from '../../../../adapters/files/r2.ts'
import { worker } from '../../../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../../../adapters/stores/sqlite/calls/d1.ts'
import { album } from './album.ts'

export default worker<{ readonly DB: D1Binding; readonly FILES: R2Binding }>((env) =>
  album({
    store: d1Store(env.DB),
    files: r2Files(env.FILES, { secret: 'a secret of at least thirty-two characters' }),
  }),
)
