import { libsqlStore } from '../../../adapters/stores/sqlite/calls/libsql.ts'
import { verifyProcesses } from './processes.ts'

verifyProcesses('libSQL', (path) => libsqlStore({ url: `file:${path}` }), ['libsql'])
