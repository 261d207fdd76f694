/**
 * `fieldgate/jobs`: what your app does at certain times.
 *
 * @module
 */

export { type RunningBackground, runBackground, runDue } from '../run.ts'
export type { JobOptions, JobRun } from './job.ts'
export { jobs } from './jobs.ts'
