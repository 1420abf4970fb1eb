#include "delenda/formats/parquet/arrow_status.h"

#include <parquet/exception.h>

#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace delenda::parquet {
namespace {

constexpr char kErrorDetailId[] = "delenda::Error";

class ErrorDetail : public arrow::StatusDetail {
 public:
  explicit ErrorDetail(Error error) : error_(std::move(error)) {}
  const char* type_id() const override { return kErrorDetailId; }
  std::string ToString() const override { return error_.ToString(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

ErrorKind KindOf(const arrow::Status& status, StatusSource source) {
  switch (status.code()) {
    case arrow::StatusCode::NotImplemented: return ErrorKind::kNotSupported;
    case arrow::StatusCode::Cancelled: return ErrorKind::kCancelled;
    case arrow::StatusCode::OutOfMemory: return ErrorKind::kIo;
    default: return source == StatusSource::kFile ? ErrorKind::kCorrupt : ErrorKind::kInternal;
  }
}

}  // namespace

arrow::Status ToStatus(Error error) {
  std::string message = error.message();
  return arrow::Status::IOError(std::move(message)).WithDetail(std::make_shared<ErrorDetail>(std::move(error)));
}

Error ToError(const arrow::Status& status, StatusSource source) {
  if (status.detail() && std::string_view(status.detail()->type_id()) == kErrorDetailId) {
    return static_cast<const ErrorDetail&>(*status.detail()).error();
  }
  return Error(KindOf(status, source), status.message());
}

Error CurrentExceptionToError(StatusSource source) {
  const ErrorKind kind = source == StatusSource::kFile ? ErrorKind::kCorrupt : ErrorKind::kInternal;
  try {
    throw;
  } catch (const ::parquet::ParquetStatusException& e) {
    return ToError(e.status(), source);
  } catch (const ::parquet::ParquetException& e) {
    // Parquet has no exception class of its own for what it cannot do.
    const std::string_view what = e.what();
    return Error(what.starts_with("Not yet implemented") ? ErrorKind::kNotSupported : kind, std::string(what));
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::kIo, "out of memory");
  } catch (const std::exception& e) {
    return Error(kind, e.what());
  } catch (...) {
    return Error(ErrorKind::kInternal, "an unknown exception");
  }
}

}  // namespace delenda::parquet
