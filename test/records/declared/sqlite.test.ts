import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { newFile } from '../../contract/store/file.ts'
import { declaredOnly } from './suite.ts'

declaredOnly('SQLite', async () => {
  const path = newFile()
  return () => sqliteStore({ path })
})
