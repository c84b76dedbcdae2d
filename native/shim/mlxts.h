/* The C interface of mlx-ts's own small library beside libmlxc: what mlx-c has no function for. */
#ifndef MLXTS_H
#define MLXTS_H

#include <stddef.h>
#include <stdint.h>

#include "mlx/c/array.h"
#include "mlx/c/vector.h"
/* io_types.h names vectors without including them. */
#include "mlx/c/io_types.h"
#include "mlx/c/vector.h"
#include "mlx/c/closure.h"
#include "mlx/c/export.h"
#include "mlx/c/graph_utils.h"

#define MLXTS_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors -------------------------------------------------------------------------------------------------- */

/* Replaces mlx-c's error handler, which ends the process, by one that keeps the message for the calling thread.
   Call it once per thread before anything else; the handler is one for the process, so more calls are harmless.
   Returns 0. */
int mlxts_install_error_handler(void);

/* The last message recorded on this thread, or NULL when there was none since the previous call. The text stays
   valid until the next call on the same thread. */
const char* mlxts_error_take(void);

/* ---- versions ------------------------------------------------------------------------------------------------ */

/* JSON text {"mlx","headers","mlxc","abi"}: the version of the loaded libmlx, of the MLX headers this library was
   compiled with, of mlx-c, and MLXTS_ABI. Static, never freed. */
const char* mlxts_versions(void);

/* ---- closures ------------------------------------------------------------------------------------------------ */

/* A closure's payload is no pointer but the number owner * 2^32 + id: the JavaScript callback reads the id from it,
   and its destructor, which MLX may run on any thread, leaves the id in the owner's queue. */

/* A new owner (one per JavaScript thread), from 1 up; 0 when all 2^20 are used up. */
uint32_t mlxts_owner_new(void);

/* Forgets an owner: its queue is dropped and later destructors of its closures are ignored. */
void mlxts_owner_free(uint32_t owner);

/* The payload for mlx_closure_new_func_payload and its relatives. Allocates nothing. */
void* mlxts_closure_payload(uint32_t owner, uint32_t id);

/* The destructor to give along with such a payload. Callable on any thread. */
void mlxts_closure_dtor(void* payload);

/* Moves up to `capacity` ids of closures that MLX has destroyed into `ids` and returns how many were written. Call
   it again while it returns `capacity`. */
size_t mlxts_closure_drain(uint32_t owner, uint32_t* ids, size_t capacity);

/* ---- owned bytes --------------------------------------------------------------------------------------------- */

/* Memory for mlx_array_new_data_managed and for ArrayBuffers: NULL when there is none left. Free it with
   mlxts_release. */
void* mlxts_allocate(size_t bytes);

/* free(): a destructor that never touches JavaScript, so any thread may call it. NULL is allowed. */
void mlxts_release(void* memory);

/* The same with the second argument of a JavaScript buffer deallocator, which is ignored. */
void mlxts_release_buffer(void* memory, void* context);

/* ---- looking into an array ----------------------------------------------------------------------------------- */

/* Each of these accepts any handle: an empty one or an unevaluated array answers NULL, 0 or -1 as said, never a
   crash, and none of them evaluates. An array whose evaluation was started in the background is available once
   mlx_array_eval or _mlx_array_is_available has said so, which also report that it failed. Only the thread that
   evaluates the array may call those about storage. */

/* Identity of the array's node: equal for two handles of the same array. 0 for an empty handle. */
uint64_t mlxts_array_id(mlx_array a);

/* 0 not scheduled, 1 scheduled, 2 available; -1 for an empty handle. */
int mlxts_array_status(mlx_array a);

/* Address of the first element; NULL unless the array is available and has storage. */
void* mlxts_array_data(mlx_array a);

/* Start of the storage that the array views, on the host; NULL unless available. Migrates on CUDA. */
void* mlxts_array_buffer(mlx_array a);

/* MLX's own buffer object: MTL::Buffer* on Metal, the allocator's block elsewhere; NULL unless available. */
void* mlxts_array_native_buffer(mlx_array a);

/* Identity of the storage, shared by all views of it; 0 when there is none. */
uint64_t mlxts_array_storage_id(mlx_array a);

/* Bytes of the whole storage; -1 unless available. */
int64_t mlxts_array_buffer_size(mlx_array a);

/* Bytes from the start of the storage to the first element; -1 unless available. MLX may record a negative value,
   which is reported as it is: test the status first. */
int64_t mlxts_array_offset(mlx_array a);

/* Elements of the storage that the array spans, as MLX counts them; -1 unless available. */
int64_t mlxts_array_data_size(mlx_array a);

/* Bit 0 contiguous, bit 1 row-contiguous, bit 2 column-contiguous; -1 unless available. */
int mlxts_array_flags(mlx_array a);

/* References to the array's node, this handle included; -1 for an empty handle. */
int64_t mlxts_array_use_count(mlx_array a);

/* References to the storage; -1 unless available. */
int64_t mlxts_array_storage_use_count(mlx_array a);

/* 1 while the array is a placeholder or result inside a transform, 0 otherwise; -1 for an empty handle. */
int mlxts_array_is_tracer(mlx_array a);

/* Bytes of all elements, as mlx_array_nbytes has them; -1 for a shape that MLX cannot count: more than 2^60 elements, or
   a length that has wrapped. 0 for an empty handle. */
double mlxts_array_bytes(mlx_array a);

/* 0 when every element of an integer array is from `least` to `most`, 1 when one is not: then the first such in
   row-major order, counted from 0, and its value. -1 when the values are not there yet, or are no integers. Waits for
   nothing and evaluates nothing. */
int mlxts_indices_outside(mlx_array indices, double least, double most, double* position, double* value);

/* 1, with a message, when the graph behind the outputs, as far as the inputs, is deeper than the rest of this thread's
   stack lets MLX walk by recursion; 0 otherwise. Either may be an empty handle. */
int mlxts_check_depth(mlx_vector_array outputs, mlx_vector_array inputs);

/* Lists the nodes that evaluating these arrays would compute, until the next call on this thread; none for an empty
   handle. Call it right before the evaluation, so that mlxts_array_is_spoiled can tell what a failure has spoiled.
   `starts` is for an evaluation that is not waited for. 0, or 1 with a message: also where the shape of one of them is
   more than MLX can count. */
int mlxts_watch(mlx_vector_array outputs, bool starts);
int mlxts_watch_one(mlx_array output);

/* The watched evaluation was started and runs on alone: remembers the events that it left on its arrays. Returns how
   many events of this thread are remembered. */
int64_t mlxts_started(void);

/* The watched outputs were waited for, without an error: their events are forgotten. Returns how many remain. */
int64_t mlxts_settled(void);

/* 1 when the array, or anything that its graph is made of, was listed by the last mlxts_watch or carries an event that
   is remembered; 0 otherwise; -1 for an empty handle. Ids are reused: ask right after the failure. */
int mlxts_array_is_spoiled(mlx_array a);

/* Forgets what was listed and remembered on this thread. */
void mlxts_forget_evaluations(void);

/* Name of the operation that makes the array ("Add"), NULL for data or once it has been computed and detached. Valid
   until the next call on this thread. */
const char* mlxts_array_primitive(mlx_array a);

/* Identity of that operation, shared by all its outputs; 0 when there is none. */
uint64_t mlxts_array_primitive_id(mlx_array a);

/* Number of inputs of that operation, 0 when there is none; -1 for an empty handle. */
int64_t mlxts_array_num_inputs(mlx_array a);

/* Number of outputs of that operation, 1 when there is none; -1 for an empty handle. */
int64_t mlxts_array_num_outputs(mlx_array a);

/* Input or output `index` as a new handle in *out (the caller frees it). 0, or 1 with a message. */
int mlxts_array_input(mlx_array* out, mlx_array a, int64_t index);
int mlxts_array_output(mlx_array* out, mlx_array a, int64_t index);

/* ---- lending storage ----------------------------------------------------------------------------------------- */

/* A new handle to the storage of an available array: an array of its own that shares the storage and nothing else, so
   that any thread may free it. Holding it keeps MLX from reusing the storage. An empty handle with a message when
   there is no storage. */
mlx_array mlxts_storage_hold(mlx_array a);

/* Frees such a handle: the deallocator of a JavaScript buffer over its bytes, whose context the handle is. Callable on
   any thread; does not touch JavaScript. */
void mlxts_storage_drop(void* bytes, void* held);

/* The device that a Metal buffer object belongs to, as MTL::Device*. NULL where there is no such thing. */
void* mlxts_metal_device(void* buffer);

/* A DLManagedTensorVersioned of an available array: read-only, on the host, with the array's own strides. It holds the
   storage until its deleter is called, which any thread may do. NULL with a message when there is no storage. */
void* mlxts_dlpack_new(mlx_array a);

/* Calls the deleter of such a tensor, once, in place of the consumer that never came. NULL is allowed. */
void mlxts_dlpack_free(void* tensor);

/* Copies elements of `width` bytes (1, 2, 4 or 8) to `out`, one after another in row-major order. `first` is where the
   element of index 0 is. `shape` and `strides` are int64_t[ndim], strides count elements, and no length is 0. 0, or 1
   with a message when memory is short. */
int mlxts_gather(void* out, const void* first, const void* shape, const void* strides, size_t ndim, size_t width);

/* ---- files in memory ----------------------------------------------------------------------------------------- */

/* A reader over a copy of `size` bytes: MLX loads lazily and from its own threads, so neither the caller's memory
   nor JavaScript may be involved. The copy goes with the last array that still needs it. `label` names it in error
   messages. Free the handle with mlx_io_reader_free. An empty handle, with a message, when memory is short. */
mlx_io_reader mlxts_reader_from_memory(const void* bytes, size_t size, const char* label);

/* A writer that collects in memory. Free it with mlx_io_writer_free. */
mlx_io_writer mlxts_writer_to_memory(const char* label);

/* What has been written so far: valid until the next write or the writer's end. NULL (and 0) for an empty handle or
   for a writer that is not one of ours. */
const void* mlxts_writer_data(mlx_io_writer writer);
size_t mlxts_writer_size(mlx_io_writer writer);

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* The graph behind the outputs in the DOT language, the arrays that the namer knows under their names; NULL with a
   message when it fails. This text, and those of the next function, are valid until the next call on this thread. */
const char* mlxts_export_to_dot(mlx_node_namer namer, mlx_vector_array outputs);

/* JSON text {"path","report"}: the order in which an Einstein summation contracts its operands, and MLX's account of
   it. NULL with a message when it fails. */
const char* mlxts_einsum_path(const char* subscripts, mlx_vector_array operands);

/* Digits behind the point with which arrays are printed, one number for the process; -1: as many as MLX sees fit. */
int mlxts_print_precision(void);
void mlxts_set_print_precision(int precision);

/* ---- exported functions -------------------------------------------------------------------------------------- */

/* Writes traces of one function to a file. An empty handle with a message when the file cannot be opened. Free it with
   mlxts_exporter_free, not with mlx-c's function, which counts handles that mlx-c made. */
mlx_function_exporter mlxts_exporter_new(
    const char* file,
    mlx_closure_kwargs fun,
    bool shapeless,
    const char* metadata);
void mlxts_exporter_free(mlx_function_exporter exporter);

/* The text that was stored with a function, as long as the function lives; NULL for an empty handle. */
const char* mlxts_imported_metadata(mlx_imported_function fun);

/* ---- lists of arrays ----------------------------------------------------------------------------------------- */

/* A new vector of these arrays, allocated at once. Free it with mlx_vector_array_free. Empty, with a message, for an
   empty handle among them, or when memory is short. */
mlx_vector_array mlxts_vector_new(const mlx_array* arrays, size_t arrays_num);

/* Writes a new handle of each element to `handles`, for the caller to free, and returns how many there are. With more
   than `capacity` nothing is written: call it again with more room. `frees` frees the vector, once they are written.
   -1 with a message for an empty handle, or when memory is short. */
int64_t mlxts_vector_handles(mlx_vector_array vector, bool frees, mlx_array* handles, size_t capacity);

/* A closure that is never freed, and left out of the counts: `fun` borrows its inputs and gives its results in a new
   vector, which is taken over. Unlike mlx-c's closures it copies neither. Empty, with a message, when memory is short. */
mlx_closure mlxts_closure_new(
    int (*fun)(mlx_vector_array*, const mlx_vector_array, void*),
    void* payload);

/* Maps `fun` over an axis of each input, -1 for those that it gets whole. Inside of it, mlxts_vmap_axes says where the
   results gain the axis, as the last call that it makes. *out must be empty. 0, or 1 with a message. */
int mlxts_vmap(
    mlx_vector_array* out,
    mlx_closure fun,
    const mlx_array* inputs,
    size_t inputs_num,
    const int* in_axes,
    size_t in_axes_num);
int mlxts_vmap_axes(const int* axes, size_t axes_num);

/* ---- constants ----------------------------------------------------------------------------------------------- */

/* A handle of its own to the same array, to be kept: the counts of live handles leave it out. Free it with
   mlxts_constant_free. Empty for an empty handle, and with a message when memory is short. */
mlx_array mlxts_constant_new(mlx_array value);
void mlxts_constant_free(mlx_array constant);

/* ---- counting ------------------------------------------------------------------------------------------------ */

/* Live mlx-c handles of every kind in the process, and of arrays alone. -1 when libmlxc is not the counting build
   (a foreign one). */
int64_t mlxts_live_handles(void);
int64_t mlxts_live_arrays(void);

/* ---- BLAS and process ---------------------------------------------------------------------------------------- */

/* "OpenBLAS 0.3.x ..." as the library describes itself, "Accelerate" on a Mac, "reference" otherwise. */
const char* mlxts_blas_name(void);

/* Threads that the BLAS uses. Setting returns 0, or 1 with a message when the BLAS has no such setting or the number
   is not positive; getting returns 1 for the reference BLAS. */
int mlxts_blas_set_threads(int threads);
int mlxts_blas_get_threads(void);

/* setenv for C's environment, which assignments to process.env do not reach. A NULL value removes the name.
   Returns 0, or 1 with a message. */
int mlxts_setenv(const char* name, const char* value);

#ifdef __cplusplus
}
#endif

#endif
