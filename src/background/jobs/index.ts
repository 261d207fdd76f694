/**
 * `fieldgate/jobs`: what your app does at certain times.
 *
 * @module
 */

export { type RunningBackground, runBackground, runDue } from '../run.ts'
export { type JobOptions, type JobRun, jobs } from './jobs.ts'
