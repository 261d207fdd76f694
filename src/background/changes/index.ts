/**
 * `fieldgate/changes`: what your app does for each change of its records.
 *
 * @module
 */

export { type RunningBackground, runBackground, runDue } from '../run.ts'
export {
  type ChangeOf,
  type ChangeTry,
  type ConsumeOptions,
  consume,
  type RecordChange,
} from './consume.ts'
