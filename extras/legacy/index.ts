/**
 * `fieldgate/legacy`: the deprecated constructors. To remove them in 4.0, delete this folder and the router's option
 * `legacyMode`.
 *
 * @module
 */

export { ControllerSets, type SetHandler } from './controller-sets.ts'
export { createRouterS3upload, type RouterS3uploadOptions } from './create-router-s3-upload.ts'
